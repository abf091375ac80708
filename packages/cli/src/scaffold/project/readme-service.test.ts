import { expect, test } from 'vitest';
import { createProjectPlan } from '../configuration/plan.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { generateProjectFiles } from './project.ts';
import { generateEntryPointsSection } from './readme-service.ts';

const configurationOf = (transports: readonly string[], others: object = {}) => {
  const { configuration, issues } = resolveConfiguration(
    { transports, mode: 'realtime', realtime_service: 'openai_realtime', ...others },
    'my-bot',
  );
  if (configuration === null) throw new Error(JSON.stringify(issues));
  return configuration;
};
const entryPointsOf = (...options: Parameters<typeof configurationOf>) =>
  generateEntryPointsSection(createProjectPlan(configurationOf(...options))).join('\n');

test('the README of a bot without the websocket transport says which transport to choose on the talk page', () => {
  expect(entryPointsOf(['lightrtc'])).toContain('choose WebRTC as the transport');
  expect(entryPointsOf(['lightrtc', 'websocket'])).not.toContain('choose WebRTC');
  expect(entryPointsOf(['lightrtc'], { client_framework: 'vanilla' })).toContain('web client');
});

test('the README lists files and settings that are not available on the service', () => {
  expect(entryPointsOf(['websocket'], { recording: true })).toContain('Recordings are deleted');
  expect(entryPointsOf(['websocket'], { realtime_service: 'gemini_vertex_live_realtime' })).toContain('is a path');
  expect(entryPointsOf(['lightrtc'])).toContain('`PIPECAT_ICE_SERVERS` is set by the service');
  expect(entryPointsOf(['websocket'])).not.toMatch(/Recordings|is a path|is set by/);
});

test('the README names the transports that the page of the development runner offers', () => {
  const readme = (...transports: string[]) =>
    generateProjectFiles(configurationOf(transports)).find(({ path }) => path === 'README.md')?.text;
  expect(readme('lightrtc', 'websocket')).toContain('Open http://localhost:7860 and allow the microphone.');
  expect(readme('websocket')).toContain('choose `WebSocket` and allow');
  expect(readme('hostedrtc', 'livekit')).toContain('choose `Daily` or `LiveKit` and allow');
  expect(readme('carrier1')).not.toContain('allow the microphone');
});

test('the README says what the service needs for rooms of Daily and of LiveKit', () => {
  expect(entryPointsOf(['hostedrtc'])).toContain('`botcli cloud rooms connect daily`');
  expect(entryPointsOf(['livekit'])).toContain('if the service has a LiveKit server');
  expect(entryPointsOf(['livekit'])).toMatch(/`LIVEKIT_\.\.\.` are for your machine only/);
});

test('the README of a bot that takes phone calls in Daily rooms names the command that prints the address for calls', () => {
  const configuration = configurationOf(['hostedrtc_pstn_dialin']);
  const readme = generateProjectFiles(configuration).find(({ path }) => path === 'README.md')?.text;
  expect(readme).toContain('botcli cloud rooms dialin my-bot');
});

test('the README shows agent start without --transport only for bots that create their own room', () => {
  expect(entryPointsOf(['websocket', 'carrier1'])).not.toContain('agent start');
  expect(entryPointsOf(['hostedrtc_pstn_dialout'])).toContain("agent start my-bot --data '{");
});
