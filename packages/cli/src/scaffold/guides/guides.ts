import { agentsGuide } from './agents.ts';
import { gettingStartedGuide } from './getting-started.ts';
import { appendMark } from './mark.ts';

export type Guide = {
  readonly path: string;
  readonly text: string;
  /**
   * Whether the guide is only for directories in which no bot has been generated yet. The guide is not written to generated
   * projects, but an existing one is kept.
   */
  readonly beforeBot: boolean;
};

export function listGuides(version: string): readonly Guide[] {
  return [
    { path: 'AGENTS.md', text: appendMark(agentsGuide, version), beforeBot: false },
    { path: 'GETTING_STARTED.md', text: appendMark(gettingStartedGuide, version), beforeBot: true },
    // With this line, a coding assistant reads AGENTS.md. The file has no version marker.
    { path: 'ASSISTANT.md', text: '@AGENTS.md\n', beforeBot: false },
  ];
}
