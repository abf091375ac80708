/** The name of the model that judges; any other name talks. */
const model = 'stand-in-judge';

export function thinksAsJudge(asked: string): boolean {
  return asked === model;
}

/**
 * Judges what a bot said by its words: what `pipecat eval` asks its classifier (a question about `latest_bot_reply`) and
 * its explainer (why) are told apart by the form that each asks for.
 */
export function judge(question: string): string {
  const name = /Question "([^"]+)"/.exec(question)?.[1];
  if (name === undefined) return JSON.stringify({ reason: 'Its words say so.' });
  const reply = /"latest_bot_reply":\s*"((?:[^"\\]|\\.)*)"/.exec(question)?.[1] ?? '';
  const choice = fits(question, reply) ? 'yes' : 'no';
  const sure = { yes: 0, no: 0, continue: 0, [choice]: 1 };
  return JSON.stringify({ [name]: { choice, probabilities: sure } });
}

/** The criteria of generated scenarios, and any other of the form "says that it is X". */
function fits(question: string, reply: string): boolean {
  if (question.includes('introduces itself or offers help')) return /\b(?:I am|help)\b/.test(reply);
  const named = /says that it is (\w+)/.exec(question)?.[1];
  return named !== undefined && new RegExp(`\\b${named}\\b`).test(reply);
}
