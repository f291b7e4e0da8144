"""What every request passes before a view: probes, well-formed text, sizes of bodies, rates."""
