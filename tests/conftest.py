"""What every test needs: Hypothesis without deadlines, since a first call may compile."""

import hypothesis

hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")
