import type { Service } from './service.ts';

/** What a service wants of the machine that it runs on, Python left out, a phrase each. */
export function machineNeeds({ installation, downloads }: Service): readonly string[] {
  return [
    ...(installation === undefined ? [] : [installation.note]),
    ...(downloads ? ['downloads a model when it first starts, and needs network access then'] : []),
  ];
}
