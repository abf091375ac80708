import { codingAgentsGuideText } from './agents.ts';
import { gettingStartedGuideText } from './getting-started.ts';
import { appendVersionMarker } from './mark.ts';

export type Guide = {
  readonly path: string;
  readonly text: string;
  /**
   * True for a guide that explains how to begin without a generated bot. `init` does not write such a guide to a generated
   * project, but keeps an existing copy.
   */
  readonly beforeBot: boolean;
};

export function listGuides(version: string): readonly Guide[] {
  return [
    { path: 'AGENTS.md', text: appendVersionMarker(codingAgentsGuideText, version), beforeBot: false },
    { path: 'GETTING_STARTED.md', text: appendVersionMarker(gettingStartedGuideText, version), beforeBot: true },
    // The line `@AGENTS.md` makes a coding assistant that reads ASSISTANT.md also read AGENTS.md.
    { path: 'ASSISTANT.md', text: '@AGENTS.md\n', beforeBot: false },
  ];
}
