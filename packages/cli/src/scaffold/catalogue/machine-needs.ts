import type { Service } from './service.ts';

/** What a service needs from the machine besides Python, as phrases. */
export function machineNeeds({ installation, downloads }: Service): readonly string[] {
  return [
    ...(installation === undefined ? [] : [installation.note]),
    ...(downloads ? ['downloads a model when it first starts, and needs network access then'] : []),
  ];
}
