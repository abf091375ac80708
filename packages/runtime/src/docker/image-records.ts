import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeJsonAtomically } from '../write-json-atomically.ts';

const unusedMs = 24 * 60 * 60 * 1000;

/**
 * Which images the driver has pulled, and for which deployments: a file for each, whose modification time is the last time at
 * which the deployment could start instances. The engine does not know who pulled an image, and the driver removes only its own.
 */
export type ImageRecords = {
  /** Records the image of a deployment, before it is pulled. */
  readonly add: (deploymentId: string, image: string) => void;
  readonly has: (image: string) => boolean;
  readonly retain: (deploymentIds: ReadonlySet<string>) => void;
  /** Returns the images that no deployment has used for a day. */
  readonly findUnused: () => readonly string[];
  readonly remove: (image: string) => Promise<void>;
};

export function openImageRecords(directory: string, now: () => Date): ImageRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let retained: ReadonlySet<string> = new Set();
  const read = (deploymentId: string): string => {
    const text = readFileSync(join(directory, deploymentId), 'utf8');
    // A kill while the file was created can leave it empty.
    return text.trim() === '' ? '' : String(JSON.parse(text));
  };
  const all = () => readdirSync(directory).map((deploymentId) => ({ deploymentId, image: read(deploymentId) }));
  const isUsed = (deploymentId: string) => {
    const path = join(directory, deploymentId);
    if (retained.has(deploymentId)) utimesSync(path, now(), now());
    return now().getTime() - statSync(path).mtimeMs < unusedMs;
  };
  return {
    add: (deploymentId, image) => {
      const path = join(directory, deploymentId);
      if (!existsSync(path) || read(deploymentId) !== image) writeJsonAtomically(path, image);
    },
    has: (image) => all().some((other) => other.image === image),
    retain: (deploymentIds) => {
      retained = deploymentIds;
    },
    findUnused: () => {
      const records = all().map((record) => ({ ...record, used: isUsed(record.deploymentId) }));
      const used = new Set(records.filter((record) => record.used).map(({ image }) => image));
      return [...new Set(records.map(({ image }) => image))].filter((image) => !used.has(image));
    },
    remove: async (image) => {
      const records = all().filter((record) => record.image === image);
      await Promise.all(records.map(({ deploymentId }) => rm(join(directory, deploymentId), { force: true })));
    },
  };
}
