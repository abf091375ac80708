import { gzipSync } from 'node:zlib';
import { hostileDirectoryTrees } from '../../../runtime/test/hostile-trees.ts';
import { createArchive, createPaxRecords, createTar, type TestTarEntry } from '../support/archive.ts';

/** Creates archives of projects that attack the service while it unpacks or builds them. */
export type HostileProjects = Readonly<Record<string, (unique: string) => Buffer>>;

const forkBomb = 'bomb() { bomb | bomb & }; bomb; sleep 1000';

/**
 * Returns a program that runs `make` in a new directory in the home directory of a build. `make` is JavaScript that creates a
 * directory tree that is hard to delete.
 */
const treeMaker = (make: string) => `
const fs = require('node:fs');
fs.mkdirSync(process.env.HOME + '/tree');
process.chdir(process.env.HOME + '/tree');
(async () => { ${make} })();`;

const makersOf = (...names: string[]): HostileProjects =>
  Object.fromEntries(
    names.map((name) => {
      const tree = hostileDirectoryTrees[name];
      if (tree === undefined) throw new Error(`The hostile directory tree "${name}" is not defined.`);
      return [`tree ${name}`, (unique) => project(unique, 'node tree.js', treeMaker(tree.make))];
    }),
  );

/**
 * Projects that attack the service while it builds them. Builds that do not exit by themselves run until their timeout.
 */
export const hostileBuilds: HostileProjects = {
  'output flood': (unique) => project(unique, 'yes'),
  'sparse output': (unique) => project(unique, "perl -e 'truncate(STDOUT,16*1024**4-8192)'; sleep 1000"),
  'fork bomb': (unique) => project(unique, forkBomb),
  'full disk': (unique) => project(unique, 'cat /dev/zero > fill'),
  'all processors': (unique) => project(unique, 'for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait'),
  ...makersOf('deep', 'wide', 'not-utf-8', 'not-utf-8-with-mode-0000', 'symbolic-links', 'hard-links'),
};

/** Malicious archives, each of which the service should refuse. */
export const hostileArchives: HostileProjects = {
  bomb: named({ path: 'zeros', body: Buffer.alloc(64 * 1_048_576) }),
  'bomb of links': named(
    { path: 'zeros', body: Buffer.alloc(1_048_576) },
    ...Array.from({ length: 1_000 }, (_, index) => ({ path: `link-${index}`, type: 'Link', linkpath: 'zeros' })),
  ),
  'path outside': named({ path: '../../outside', body: 'x' }),
  'absolute path': named({ path: '/etc/outside', body: 'x' }),
  'link outside': named({ path: 'link', type: 'Link', linkpath: '/etc/passwd' }),
  'path through link': named({ path: 'link', type: 'SymbolicLink', linkpath: '.' }, { path: 'link/x', body: 'x' }),
  'deep path': named(createPaxRecords({ path: `${'deep/'.repeat(1_000)}x` }), { path: 'x', body: 'x' }),
  truncated: (unique) => gzipSync(createTar(nameOf(unique), { path: 'x', body: 'x'.repeat(10_000) })).subarray(0, -20),
  'zip file': (unique) => Buffer.from(`PK\x03\x04${unique}`),
};

/** JavaScript programs by name. A hostile bot runs one of them in its session. */
export const hostileBots: Readonly<Record<string, string>> = {
  cpu: 'for (;;);',
  disk: `const file = fs.openSync(process.env.HOME + '/fill', 'w'); for (;;) fs.writeSync(file, Buffer.alloc(1048576, 1));`,
  output: `for (;;) fs.writeSync(1, ('x'.repeat(1023) + '\\n').repeat(64));`,
  forks: `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(forkBomb)}], { detached: true });`,
};

/** Source of a bot that ignores SIGTERM and executes the JavaScript in the field `attack` of the request body. */
export const hostileBotSource = `
const fs = require('node:fs');
process.on('SIGTERM', () => {});
require('node:http').createServer(async (request, response) => {
  if (request.url !== '/bot') {
    response.statusCode = request.url === '/readyz' ? 200 : 404;
    return response.end();
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  eval(JSON.parse(body).attack);
}).listen(Number(process.env.PORT), process.env.BOT_HOST);`;

function project(unique: string, build: string, tree = ''): Buffer {
  const manifest = { name: unique, main: 'index.js', scripts: { build } };
  return createArchive(
    { path: 'package.json', body: JSON.stringify(manifest) },
    { path: 'index.js', body: '' },
    { path: 'tree.js', body: tree },
  );
}

/** An archive entry with a unique body, because the service builds the same content only once. */
const nameOf = (unique: string): TestTarEntry => ({ path: 'name', body: unique });

function named(...entries: (TestTarEntry | Buffer)[]): (unique: string) => Buffer {
  return (unique) => createArchive(nameOf(unique), ...entries);
}
