/** How a report is printed: for people on a terminal, for line tools, or for programs. */
export const outputModes = ['rich', 'plain', 'json'] as const;
export type OutputMode = (typeof outputModes)[number];
