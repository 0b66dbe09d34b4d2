"""Kernels that other kernels call, compiled to LLVM code alone.

Numba makes every function ready to be called from Python: with two wrappers that unpack its
arguments, optimised, and as machine code. A function that only other kernels call needs none of
this: the outermost kernel contains its code and is optimised as a whole. So each kernel here has
two forms, each compiled when it is first needed: one for calls from Python, and one for kernels.

The second form does not count references to arrays if it makes and returns none, and is always
inlined if it takes many: a call with a tuple of arrays, such as a tree, would pass about a hundred
words and count every array twice, which takes longer than most of these functions.

This uses parts of Numba that may change with its versions; `compiled` imports it with tested ones
only.
"""

from typing import Any

from llvmlite.binding import Linkage
from numba.core import compiler, compiler_machinery
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonRewrites
from numba.core.types import Array, ArrayIterator, BaseTuple  # type: ignore[attr-defined]

READING = ("getitem", "static_getitem", "getiter", "iternext")
"""Operations that return parts of their operands."""
MAX_WORDS = 32
"""Words that a call passes at most: LLVM alone decides whether to inline a game's rules, which take
a state and an array; all of them, at every call, could be too much code."""
BORROWED = (Array, BaseTuple, ArrayIterator)
"""Types of values that a function may take apart without counting."""


def compile_apart(function: Any) -> None:
    """Give a function that Numba compiles a form of its own for calls from other kernels."""
    if not isinstance(function, CPUDispatcher):  # compilation is switched off
        return
    inner = InnerKernel(function.py_func, targetoptions=function.targetoptions)
    inner._compiling_counter = function._compiling_counter  # how Numba notices recursion
    function.get_call_template = inner.get_call_template
    function.get_overload = inner.get_overload


class InnerKernel(CPUDispatcher):  # type: ignore[misc]  # Numba has no types
    """A function as other kernels call it."""

    _compiler: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        compile_wrapped = self._compiler
        self._compiler = _LlvmCompiler(
            self.py_func,
            self.targetdescr,
            self.targetoptions,
            compile_wrapped.locals,
            compile_wrapped.pipeline_class,
        )

    def add_overload(self, compiled: Any) -> None:
        """Offer code to kernels; the entry point only identifies it."""
        entry = object()
        self.targetctx.insert_user_function(entry, compiled.fndesc, [compiled.library])
        arguments = tuple(compiled.signature.args)
        self.overloads[arguments] = compiled._replace(entry_point=entry)


class _LlvmLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into other libraries and never run by itself."""

    def _optimize_final_module(self) -> None:
        """Leave it as it is: the libraries that contain it are optimised."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            is_own = not function.is_declaration and function.linkage == Linkage.external
            if is_own and len(list(function.arguments)) > MAX_WORDS:
                function.add_function_attribute("alwaysinline")
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _LlvmCompiler(_FunctionCompiler):  # type: ignore[misc]
    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        target = self.targetdescr.target_context
        return compiler.compile_extra(
            self.targetdescr.typing_context,
            target,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=flags,
            locals=self.locals,
            library=_LlvmLibrary(target.codegen(), self.py_func.__qualname__),
            pipeline_class=_Pipeline,
        )


class _Pipeline(compiler.CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes, and the one that turns reference counts off."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_StopCounting, NopythonRewrites)
        passes.finalize()
        return [passes]


@compiler_machinery.register_pass(mutates_CFG=False, analysis_only=True)
class _StopCounting(compiler_machinery.FunctionPass):  # type: ignore[misc]
    """Count no references in functions that only read and write the arrays of their arguments."""

    _name = "stop_counting"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if not _makes_references(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


def _makes_references(state: Any) -> bool:
    """Return whether a function returns counted values, such as arrays, or gets them from calls."""

    def is_counted(each: Any) -> bool:
        return bool(state.targetctx.data_model_manager[each].contains_nrt_meminfo())

    made = [
        signature.return_type
        for expression, signature in state.calltypes.items()
        if signature is not None and not _only_reads(expression, signature)
    ]
    others = [each for each in state.typemap.values() if not isinstance(each, BORROWED)]
    return any(map(is_counted, [state.return_type, *made, *others]))


def _only_reads(expression: Any, signature: Any) -> bool:
    """Return whether the result belongs to the operands; an array as index makes a new array."""
    is_view = getattr(expression, "op", "") in READING
    return is_view and not any(isinstance(each, Array) for each in signature.args[1:])
