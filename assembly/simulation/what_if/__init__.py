"""A what-if assembles a recorded request again with other parameters, rules or file versions."""
