import type { ProjectPlan } from '../configuration/plan.ts';
import type { ProjectFile } from '../project-file.ts';
import { dialsOut, receivesCalls, waitsForClient } from './bot-calls.ts';

/** Example scenarios for `pipecat eval`. Without text scenarios for a realtime service, which accepts only audio. */
export function generateEvalFiles(plan: ProjectPlan): readonly ProjectFile[] {
  const audio = { path: 'server/evals/audio.yaml', text: scenarios(plan, 'audio') };
  if (plan.configuration.mode === 'realtime') return [audio];
  return [{ path: 'server/evals/text.yaml', text: scenarios(plan, 'text') }, audio];
}

/** In every scenario the bot speaks first, because `pipecat eval` reports to the bot that the client is ready. */
function scenarios(plan: ProjectPlan, modality: 'text' | 'audio'): string {
  const lines = [
    `# Scenarios in ${modality}, with the answers expected from the bot. Start the bot, then run them:`,
    `#   uv run --group evals pipecat eval run evals/${modality}.yaml`,
    ...(dialsOut(plan) && !receivesCalls(plan) && waitsForClient(plan)
      ? ['# In an evaluation the bot speaks first, unlike when it calls somebody.']
      : []),
    `name: ${modality}`,
    '',
    ...(modality === 'audio'
      ? [
          'user:',
          '  modality: audio',
          '  speech:',
          '    service: kokoro',
          '    voice: af_heart',
          '    sample_rate: 16000',
          'judge:',
          '  modality: audio',
          '  transcription:',
          '    service: moonshine',
          '    model: small-streaming',
          '',
        ]
      : ['user:', '  modality: text', 'judge:', '  modality: text', '']),
    'scenarios:',
    '  - name: greeting',
    '    turns:',
    '      - expect:',
    '          - event: response',
    '            eval: "introduces itself or offers help"',
    '            within_ms: 20000',
    '  - name: question',
    '    turns:',
    '      - expect:',
    '          - event: response',
    '      - user: "What is the capital of France?"',
    '        expect:',
    '          - event: response',
    '            eval: "says that it is Paris"',
    '            within_ms: 20000',
  ];
  return `${lines.join('\n')}\n`;
}
