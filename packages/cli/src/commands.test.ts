import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { globalOptions } from './command-line/global-options.ts';
import { commandAliases, commandGroups, commands, defaultCommands } from './commands.ts';

const folder = fileURLToPath(new URL('commands/', import.meta.url));

test('commands.ts lists exactly the command files in the directory commands/', async () => {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const paths = files.map((name) => name.replace(/\.ts$/, '').split(/[\\/]/).join(' '));
  expect(paths.sort()).toEqual(Object.keys(commands).sort());
  const table = await readFile(fileURLToPath(new URL('commands.ts', import.meta.url)), 'utf8');
  for (const path of paths) {
    const key = path.includes(' ') ? `'${path}'` : path;
    expect(table).toContain(`${key}: () => import('./commands/${path.split(' ').join('/')}.ts')`);
  }
});

test('every command is in a listed group, every group contains a command, and every alias names a command', () => {
  const paths = Object.keys(commands);
  for (const path of paths) {
    const words = path.split(' ');
    for (let length = 1; length < words.length; length += 1) {
      expect(commandGroups).toHaveProperty([words.slice(0, length).join(' ')]);
    }
  }
  for (const group of Object.keys(commandGroups)) expect(paths.some((path) => path.startsWith(`${group} `))).toBe(true);
  for (const target of Object.values(commandAliases)) expect(paths).toContain(target);
});

test.each(Object.keys(commands))(
  'the options of the command %s and the global options have unique names and unique letters',
  async (path) => {
    const command = (await commands[path]?.())?.command;
    const all = [...Object.entries(globalOptions), ...Object.entries(command?.options ?? {})];
    const names = [...all.map(([name]) => name), ...Object.keys(command?.arguments ?? {})];
    const letters = all.flatMap(([, option]) =>
      'short' in option && option.short !== undefined ? [option.short] : [],
    );
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(letters).size).toBe(letters.length);
  },
);

test.each(Object.keys(commands))(
  'every example of the command %s begins with its name, an alias, or the group that runs it by default',
  async (path) => {
    const command = (await commands[path]?.())?.command;
    expect(command?.examples.length).toBeGreaterThan(0);
    for (const example of command?.examples ?? []) {
      const shorter = Object.entries({ ...commandAliases, ...defaultCommands });
      const own = [path, ...shorter.flatMap(([words, of]) => (of === path ? [words] : []))];
      expect(own.some((words) => example.startsWith(words))).toBe(true);
    }
  },
);

test('command files import neither @bothost/contract nor connection.ts at startup, so that help is fast', async () => {
  for (const path of Object.keys(commands)) {
    const source = await readFile(`${folder}${path.split(' ').join('/')}.ts`, 'utf8');
    expect(source).not.toMatch(/^import (?!type).*'@bothost\/contract'/m);
    expect(source).not.toMatch(/^import .*'\.\.\/.*connection\.ts'/m);
  }
});
