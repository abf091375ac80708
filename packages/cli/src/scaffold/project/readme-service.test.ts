import { expect, test } from 'vitest';
import { planOf } from '../configuration/plan.ts';
import { resolve } from '../configuration/resolve.ts';
import { projectFiles } from './project.ts';
import { entryPoints } from './readme-service.ts';

const configurationOf = (transports: readonly string[], others: object = {}) => {
  const { configuration, issues } = resolve(
    { transports, mode: 'realtime', realtime_service: 'openai_realtime', ...others },
    'my-bot',
  );
  if (configuration === null) throw new Error(JSON.stringify(issues));
  return configuration;
};
const told = (...given: Parameters<typeof configurationOf>) =>
  entryPoints(planOf(configurationOf(...given))).join('\n');

test('a bot that takes offers only is told to need websocket for the page of the service', () => {
  expect(told(['lightrtc'])).toContain('botcli project add websocket');
  expect(told(['lightrtc', 'websocket'])).not.toContain('project add');
  expect(told(['lightrtc'], { client_framework: 'vanilla' })).toContain('web client');
});

test('what an instance of the service has not is told', () => {
  expect(told(['websocket'], { recording: true })).toContain('Recordings are deleted');
  expect(told(['websocket'], { realtime_service: 'gemini_vertex_live_realtime' })).toContain('is a path');
  expect(told(['lightrtc'])).toContain('`PIPECAT_ICE_SERVERS` is set by the service');
  expect(told(['websocket'])).not.toMatch(/Recordings|is a path|is set by/);
});

test('the page of the runner is told for all that it offers', () => {
  const readme = (...transports: string[]) =>
    projectFiles(configurationOf(transports)).find(({ path }) => path === 'README.md')?.text;
  expect(readme('lightrtc', 'websocket')).toContain('Open http://localhost:7860 and allow the microphone.');
  expect(readme('websocket')).toContain('choose `WebSocket` and allow');
  expect(readme('hostedrtc', 'livekit')).toContain('choose `Daily` or `LiveKit` and allow');
  expect(readme('carrier1')).not.toContain('allow the microphone');
});

test('rooms, which the service does not start, are told to work elsewhere only', () => {
  expect(told(['hostedrtc'])).toMatch(/starts no rooms yet: .*project add lightrtc/);
  expect(told(['hostedrtc', 'lightrtc'])).not.toContain('project add lightrtc');
});

test('no README names a webhook of the rooms’ vendor on the service, which has none', () => {
  const configuration = configurationOf(['hostedrtc_pstn_dialin']);
  const readme = projectFiles(configuration).find(({ path }) => path === 'README.md')?.text;
  expect(readme).not.toContain('/v1/public/webhooks');
  expect(readme).toContain('answers no webhook');
});

test('a plain start, which opens no way in, is named only where the bot makes its own room', () => {
  expect(told(['websocket', 'carrier1'])).not.toContain('agent start');
  expect(told(['hostedrtc_pstn_dialout'])).toContain("agent start my-bot --data '{");
});
