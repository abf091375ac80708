/** The name of the judging model. Other names are conversation models. */
const model = 'stand-in-judge';

export function thinksAsJudge(asked: string): boolean {
  return asked === model;
}

/**
 * Judges an answer by its words. The requests of `pipecat eval` for a verdict (a question about `latest_bot_reply`) and for an
 * explanation differ in the response format that they ask for.
 */
export function judge(question: string): string {
  const name = /Question "([^"]+)"/.exec(question)?.[1];
  if (name === undefined) return JSON.stringify({ reason: 'Its words say so.' });
  const reply = /"latest_bot_reply":\s*"((?:[^"\\]|\\.)*)"/.exec(question)?.[1] ?? '';
  const choice = fits(question, reply) ? 'yes' : 'no';
  const sure = { yes: 0, no: 0, continue: 0, [choice]: 1 };
  return JSON.stringify({ [name]: { choice, probabilities: sure } });
}

/** Knows the criteria of generated scenarios, and others of the form "says that it is X". */
function fits(question: string, reply: string): boolean {
  if (question.includes('introduces itself or offers help')) return /\b(?:I am|help)\b/.test(reply);
  const named = /says that it is (\w+)/.exec(question)?.[1];
  return named !== undefined && new RegExp(`\\b${named}\\b`).test(reply);
}
