import type { Service } from './service.ts';

/** Lists, as phrases, what a service needs on the machine besides Python. */
export function listMachineNeeds({ installation, downloads }: Service): readonly string[] {
  return [
    ...(installation === undefined ? [] : [installation.note]),
    ...(downloads ? ['downloads a model when it first starts, and needs network access then'] : []),
  ];
}
