import type { Plan } from '../configuration/plan.ts';
import type { ProjectFile } from '../project-file.ts';
import { dialsOut, hearsReady, isRung } from './bot-calls.ts';

/** `server/evals/`: scenarios to start from. A realtime service hears audio only, so it gets no texts. */
export function evalFiles(plan: Plan): readonly ProjectFile[] {
  const audio = { path: 'server/evals/audio.yaml', text: scenarios(plan, 'audio') };
  if (plan.configuration.mode === 'realtime') return [audio];
  return [{ path: 'server/evals/text.yaml', text: scenarios(plan, 'text') }, audio];
}

/** Evaluations reach the bot as a client that says when it is ready, so every bot greets them. */
function scenarios(plan: Plan, modality: 'text' | 'audio'): string {
  const lines = [
    `# Scenarios in ${modality}, with the answers expected from the bot. Start the bot, then run them:`,
    `#   uv run --group evals pipecat eval run evals/${modality}.yaml`,
    ...(dialsOut(plan) && !isRung(plan) && hearsReady(plan)
      ? [
          '# An evaluation calls the bot, not the other way round. So the bot greets here, unlike when it calls somebody.',
        ]
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
