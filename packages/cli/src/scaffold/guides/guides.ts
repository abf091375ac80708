import { agentsGuide } from './agents.ts';
import { gettingStartedGuide } from './getting-started.ts';
import { withMark } from './mark.ts';

/** A file for people and coding agents who build on the project. */
export type Guide = {
  readonly path: string;
  readonly text: string;
  /** For those who have no bot yet: a project that is generated has it only where it was there before. */
  readonly beforeBot: boolean;
};

/** The guides as a version writes them. */
export function guidesOf(version: string): readonly Guide[] {
  return [
    { path: 'AGENTS.md', text: withMark(agentsGuide, version), beforeBot: false },
    { path: 'GETTING_STARTED.md', text: withMark(gettingStartedGuide, version), beforeBot: true },
    // A line that one coding assistant reads as "see there"; it has no version.
    { path: 'ASSISTANT.md', text: '@AGENTS.md\n', beforeBot: false },
  ];
}
