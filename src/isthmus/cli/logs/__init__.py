"""Commands about robot logs."""
