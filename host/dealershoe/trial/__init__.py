"""Rule books put to the trial by playing hands under them: scenarios, situations, differences."""
