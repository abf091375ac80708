/** `rich` is for people at a terminal, `plain` for line-based tools, `json` for programs. */
export const outputModes = ['rich', 'plain', 'json'] as const;
export type OutputMode = (typeof outputModes)[number];
