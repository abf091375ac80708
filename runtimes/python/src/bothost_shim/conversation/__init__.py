"""Records the conversation of a session (docs/bot-contract.md, "Conversation")."""
