import type { VendorService } from './vendor-service.ts';

/** Lists what a service needs on the machine besides Python, as phrases for users. */
export function listMachineRequirements({ installation, downloads }: VendorService): readonly string[] {
  return [
    ...(installation === undefined ? [] : [installation.note]),
    ...(downloads ? ['downloads a model when it first starts, and needs network access then'] : []),
  ];
}
