import { agentsGuide } from './agents.ts';
import { gettingStartedGuide } from './getting-started.ts';
import { appendMark } from './mark.ts';

export type Guide = {
  readonly path: string;
  readonly text: string;
  /** Whether the guide is only for directories without a bot. A generated project keeps such a guide, but does not get one. */
  readonly beforeBot: boolean;
};

export function listGuides(version: string): readonly Guide[] {
  return [
    { path: 'AGENTS.md', text: appendMark(agentsGuide, version), beforeBot: false },
    { path: 'GETTING_STARTED.md', text: appendMark(gettingStartedGuide, version), beforeBot: true },
    // A coding assistant imports AGENTS.md through this line. The file has no version mark.
    { path: 'ASSISTANT.md', text: '@AGENTS.md\n', beforeBot: false },
  ];
}
