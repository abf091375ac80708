'use strict';

// The program of the spawner (spawner-process.ts says what it is for). It is JavaScript because tests run it from `src` with Node
// 20, and a CommonJS file that loads no other file of ours because Node's ES module loader would cost it memory and time.
const { spawn } = require('node:child_process');
const { closeSync, openSync, readFileSync } = require('node:fs');

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { RunRequest, SpawnerRequest, SpawnerRequestMessage, StartRequest } from './spawner-messages.ts'
 * @import { SpawnerEvent, SpawnerEventMessage } from './spawner-messages.ts'
 */

const maxStdoutCharacters = 64 * 1024 * 1024;
const maxStderrCharacters = 10_000;

/** @type {Map<number, ChildProcess>} The programs that have not ended. */
const children = new Map();

process.title = 'bothost-spawner';
// Programs may keep pipes to this process open after the server has ended. SIGKILL is safe because nothing has to be flushed.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal or service manager sends these signals to the server too, and the server needs the spawner while it stops.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, () => undefined);

// Messages are not checked, because only the server that started this process can send them.
process.on('message', (/** @type {SpawnerRequestMessage} */ { id, request }) => {
  try {
    handle(id, request);
  } catch (error) {
    sendFailure(id, error);
  }
});

/**
 * @param {number} id
 * @param {SpawnerRequest} request
 */
function handle(id, request) {
  switch (request.type) {
    case 'run':
      return run(id, request);
    case 'start':
      return start(id, request);
    case 'closeInput':
      return children.get(id)?.stdin?.end(request.text);
    case 'kill':
      return children.get(id)?.kill('SIGKILL');
  }
}

/**
 * @param {number} id
 * @param {RunRequest} request
 */
function run(id, { command, options, stallMs }) {
  const [file = '', ...parameters] = command;
  const child = spawn(file, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  track(id, child, 'close', (code, signal) => ({ type: 'completed', result: { code, signal, stdout, stderr } }));
  const kill = () => child.kill('SIGKILL');
  const stallTimer = stallMs === undefined ? undefined : setTimeout(kill, stallMs);
  child.once('close', () => clearTimeout(stallTimer));
  // Contrary to their types, the streams are undefined if this process has too many open files to start the program.
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    stallTimer?.refresh();
    if (stdout.length > maxStdoutCharacters) kill();
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr = (stderr + text).slice(0, maxStderrCharacters);
  });
}

/**
 * @param {number} id
 * @param {StartRequest} request
 */
function start(id, { command, options, outputPath, exitPath, input }) {
  const [file = '', ...parameters] = command;
  /** @type {number[]} */
  const opened = [];
  try {
    const output = openSync(outputPath, 'a', 0o600);
    opened.push(output);
    const exit = openSync(exitPath, 'r+');
    opened.push(exit);
    const child = spawn(file, parameters, { ...options, detached: true, stdio: ['pipe', output, output, exit] });
    track(id, child, 'exit', (code, signal) => ({ type: 'exited', exit: { code, signal } }));
    if (child.pid !== undefined) begin(id, child, child.pid, input);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * @param {number} id
 * @param {ChildProcess} child
 * @param {number} pid
 * @param {string} input
 */
function begin(id, child, pid, input) {
  try {
    const startTicks = readStartTicks(pid);
    child.stdin?.on('error', () => undefined).write(input);
    send(id, { type: 'started', pid, startTicks });
  } catch (error) {
    // The server gets the error, which means that nothing runs.
    child.kill('SIGKILL');
    throw error;
  }
}

/**
 * Reads the start time of a child process. The child has its own entry in /proc, even if it has already ended, because Node reaps
 * it only after the current event.
 * @param {number} pid
 */
function readStartTicks(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command name, in parentheses, may contain spaces and parentheses.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

/**
 * Sends how a program ended. A program that cannot be started emits `error`, and some also emit `close`: only the first is sent.
 * @param {number} id
 * @param {ChildProcess} child
 * @param {'close' | 'exit'} endEvent
 * @param {(code: number | null, signal: string | null) => SpawnerEvent} describeEnd
 */
function track(id, child, endEvent, describeEnd) {
  children.set(id, child);
  child.on('error', (error) => {
    if (children.delete(id)) sendFailure(id, error);
  });
  child.once(endEvent, (code, signal) => {
    if (children.delete(id)) send(id, describeEnd(code, signal));
  });
}

/**
 * @param {number} id
 * @param {unknown} error
 */
function sendFailure(id, error) {
  const { message, code } = /** @type {NodeJS.ErrnoException} */ (error);
  send(id, { type: 'failed', message, code });
}

/**
 * @param {number} id
 * @param {SpawnerEvent} event
 */
function send(id, event) {
  /** @type {SpawnerEventMessage} */
  const message = { id, event };
  process.send?.(message);
}
