"""Kernels that other kernels call, compiled to LLVM code alone.

Numba makes every function ready to be called from Python: with two wrappers that unpack its
arguments, optimised, and as machine code. A function that only other kernels call needs none of
this: the outermost kernel contains its code and is optimised as a whole. So each kernel here has
two forms, each compiled when it is first needed: one for calls from Python, and one for kernels.

This uses parts of Numba that may change with its versions; `compiled` imports it with tested ones
only.
"""

from typing import Any

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher


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
            pipeline_class=self.pipeline_class,
        )
