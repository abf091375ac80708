/** Requests with this model name go to the judge, all others to the conversation model. */
const model = 'stand-in-judge';

export function isJudgeModel(asked: string): boolean {
  return asked === model;
}

/**
 * Answers a request of `pipecat eval` to its judge model. If the request names a question, returns a verdict that depends on
 * the words of the bot's reply, or of the whole conversation if the question is about all of it. Otherwise, returns an explanation.
 */
export function replyAsJudgeModel(question: string): string {
  const name = /Question "([^"]+)"/.exec(question)?.[1];
  if (name === undefined) return JSON.stringify({ reason: 'Its words say so.' });
  const [conversation = ''] = question.split('\nQuestion "', 1);
  const reply = /"latest_bot_reply":\s*"((?:[^"\\]|\\.)*)"/.exec(question)?.[1] ?? conversation;
  const isMet = fits(question, reply);
  if (question.includes('Answer shape: {"probability"'))
    return JSON.stringify({ [name]: { probability: Number(isMet) } });
  const choice = isMet ? 'yes' : 'no';
  const sure = { yes: 0, no: 0, continue: 0, [choice]: 1 };
  return JSON.stringify({ [name]: { choice, probabilities: sure } });
}

/**
 * Returns whether an answer meets a criterion. Supports the criteria in generated scenarios, and criteria such as "says that it
 * is sunny" and "calls get_weather".
 */
function fits(question: string, reply: string): boolean {
  if (question.includes('introduces itself or offers help')) return /\b(?:I am|help)\b/.test(reply);
  const called = /calls (\w+)/.exec(question)?.[1];
  if (called !== undefined && !reply.includes(`${called}(`)) return false;
  const named = /says that it is (\w+)/.exec(question)?.[1];
  return named !== undefined && new RegExp(`\\b${named}\\b`).test(reply);
}
