import { z } from 'zod';
import { readYamlFile } from './read-yaml-file.ts';

const textsSchema = z.record(z.string(), z.string());

const podTemplateSchema = z
  .strictObject({
    metadata: z.strictObject({ labels: textsSchema.optional(), annotations: textsSchema.optional() }).default({}),
    spec: z.looseObject({ containers: z.never('use "container" for the container of the bot').optional() }).default({}),
    container: z.looseObject({}).default({}),
  })
  .nullable()
  .transform((template) => template ?? noPodTemplate);

/** What the operator adds to all pods. `spec` is that of the pod without its containers, `container` the container of the bot. */
export type PodTemplate = { readonly metadata: object; readonly spec: object; readonly container: object };

export const noPodTemplate: PodTemplate = { metadata: {}, spec: {}, container: {} };

/** @throws RuntimeUnavailableError that says what is wrong in the file */
export const readPodTemplate = (path: string): Promise<PodTemplate> =>
  readYamlFile(path, 'BOTHOST_KUBERNETES_POD_TEMPLATE', podTemplateSchema);

/** Merges parts of a pod at all levels. The values of later parts win, and their lists are appended. */
export function mergeParts(...parts: readonly object[]): object {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part))) {
    const known = merged[key];
    merged[key] =
      Array.isArray(known) && Array.isArray(value)
        ? [...known, ...value]
        : isObject(known) && isObject(value)
          ? mergeParts(known, value)
          : value;
  }
  return merged;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
