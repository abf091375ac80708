import { mkdir } from 'node:fs/promises';
import { isReservedSecretKey } from '@bothost/contract';
import { expect, test } from 'vitest';
import { useTestDirectory } from '../../../test/test-directory.ts';
import { createBotEnvironment } from '../instances/environment.ts';
import { resolveBotProgram } from './bot-program.ts';
import { getPythonEnvironmentFiles, markPythonEnvironmentComplete } from './environment-files.ts';
import type { Project } from './prepared-project.ts';

const environmentsDirectory = await useTestDirectory();

const node: Project = { kind: 'node', project: 'p', main: 'main.js', environment: null, owner: null, gid: null };
const python: Project = { kind: 'python', project: 'p', main: 'bot.py', environment: 'e', owner: 'o', gid: null };

test.each([node, python])(
  'every variable that the driver sets for a $kind bot is a reserved secret key',
  async (project) => {
    if (project.kind === 'python') {
      const files = getPythonEnvironmentFiles(environmentsDirectory, project);
      await mkdir(files.directory, { recursive: true });
      markPythonEnvironmentComplete(files, { path: '/usr/bin/python3', version: '3.11.7' });
    }
    const { folder, variables } = await resolveBotProgram(
      {
        projectsDirectory: '/projects',
        environmentsDirectory,
        interpreter: async () => process.execPath,
        shim: async () => ({ path: '/shim', requirements: [], requiresPython: '>=3.11', compile: async () => {} }),
      },
      project,
    );
    const environment = createBotEnvironment({
      instanceId: 'i',
      port: 1,
      socket: '/run/bot',
      conversation: { lines: '/conversation', recording: '/recording' },
      home: '/home',
      folder,
      path: '/bin',
      language: 'C.UTF-8',
      timeZone: 'UTC',
      variables,
    });
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(['PORT', 'BOT_SOCKET', ...Object.keys(variables)]));
    expect(Object.keys(environment).filter((name) => !isReservedSecretKey(name))).toEqual([]);
  },
);
