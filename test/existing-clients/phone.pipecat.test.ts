import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { callBot, receiveGreeting } from '../../packages/cli/test/generated-bots/phone-call.ts';
import { listReachedVendors } from '../../packages/cli/test/generated-bots/reached-vendors.ts';
import { pitchHertz } from '../../packages/cli/test/stand-in-vendors/cartesia.ts';
import { deployProject } from './deployed-project.ts';

/** The phone bot that Pipecat's generator writes, deployed unchanged with Pipecat's CLI. */
const agent = { agentName: 'phone' };

const project = await deployProject('phone', '-b telephony -t twilio --llm openai_llm');
afterAll(() => project?.close());

it('a call with a token is answered, its session and log appear in the CLI, and agent stop ends the call', async () => {
  const { service, standIns, pipecat } = project;
  const body = { transport: 'websocket' } as const;
  const { wsUrl, token, sessionId = '' } = await service.publicClient.startSession({ params: agent, body });
  const call = await callBot(`${wsUrl}/${token}`, {});
  expect((await call.listen(1.5)).pitch).toBeCloseTo(pitchHertz, -1.5);
  expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai']);

  expect(await pipecat('cloud agent sessions')).toMatch(new RegExp(`${sessionId}\t.*\tActive\t`));
  expect(await pipecat(`cloud agent logs phone --session-id ${sessionId}`)).toContain('Client connected');
  const hungUp = expect(call.listen(1000)).rejects.toThrow('The bot ended the call');
  await pipecat(`cloud agent stop --session-id ${sessionId} --force`);
  await hungUp;
  const end = async () => (await service.client.getSession({ params: { ...agent, sessionId } })).completionStatus;
  await expect.poll(end).toBe('SESSION_STOPPED');
});

it('a call without a token is answered only after websocket_auth is set to none', async () => {
  const { service, pipecat } = project;
  const url = `${service.url.replace('http', 'ws')}/ws/twilio`;
  const parameters = { _pipecatCloudServiceHost: 'phone.test-org' };
  await expect(receiveGreeting(url, parameters)).rejects.toThrow('code 1008');
  const file = join(project.directory, 'server/pcc-deploy.toml');
  await writeFile(file, `websocket_auth = "none"\n${await readFile(file, 'utf8')}`);
  await pipecat('cloud deploy --yes');
  expect((await receiveGreeting(url, parameters)).pitch).toBeCloseTo(pitchHertz, -1.5);
  await pipecat('cloud agent delete phone --force');
});
