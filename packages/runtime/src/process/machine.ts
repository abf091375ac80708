import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeUnavailableError } from '../runtime.ts';
import {
  chooseIsolation,
  createTraversableDirectory,
  type IsolationSettings,
  requireTraversableDirectory,
  usesUnixAccountPerBot,
  warnAboutWeakIsolation,
} from './containment/isolation.ts';
import { type PageAndTickSizes, readPageAndTickSizes } from './containment/kernel-units.ts';
import type { RemovalContext } from './instances/remove-instance.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { readBootId } from './proc/process-identity.ts';

export type PreparedMachine = RemovalContext & {
  readonly isolation: IsolationSettings;
  readonly units: PageAndTickSizes;
  readonly bootId: string;
  readonly instancesDirectory: string;
};

/** Rejects with `RuntimeUnavailableError` if bots cannot run on this machine or in the data directory. */
export async function prepareMachineForBots(
  options: Pick<ProcessRuntimeOptions, 'dataDirectory' | 'containment' | 'logger' | 'removeTree'> &
    Pick<RemovalContext, 'reservationsDirectory'>,
): Promise<PreparedMachine> {
  if (process.platform !== 'linux') {
    throw new RuntimeUnavailableError(
      `The "process" runtime needs /proc and therefore Linux. This machine runs ${process.platform}.`,
    );
  }
  const { dataDirectory, logger } = options;
  const isRoot = process.geteuid?.() === 0;
  const instancesDirectory = join(dataDirectory, 'instances');
  if (mkdirSync(dataDirectory, { recursive: true }) !== undefined) chmodSync(dataDirectory, 0o711);
  if (usesUnixAccountPerBot(isRoot, options.containment)) await requireTraversableDirectory(dataDirectory);
  const isolation = await chooseIsolation(dataDirectory, isRoot, options.containment);
  createTraversableDirectory(instancesDirectory);
  warnAboutWeakIsolation(isolation, logger);
  return {
    isolation,
    units: readPageAndTickSizes(),
    bootId: readBootId(),
    instancesDirectory,
    reservationsDirectory: options.reservationsDirectory,
    removeTree: options.removeTree,
  };
}
