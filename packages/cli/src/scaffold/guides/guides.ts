import { agentsGuide } from './agents.ts';
import { gettingStartedGuide } from './getting-started.ts';
import { withMark } from './mark.ts';

/** A file of instructions for people and coding agents. */
export type Guide = {
  readonly path: string;
  readonly text: string;
  /** Whether it is for directories without a bot. A generated project keeps such a guide, but does not get one. */
  readonly beforeBot: boolean;
};

/** The guides that a version of botcli writes. */
export function guidesOf(version: string): readonly Guide[] {
  return [
    { path: 'AGENTS.md', text: withMark(agentsGuide, version), beforeBot: false },
    { path: 'GETTING_STARTED.md', text: withMark(gettingStartedGuide, version), beforeBot: true },
    // One coding assistant reads this line as an import. It has no version mark.
    { path: 'ASSISTANT.md', text: '@AGENTS.md\n', beforeBot: false },
  ];
}
