import { formatMegabytes } from './megabytes.ts';
import type { ModelDownload, VendorService } from './vendor-service.ts';

/** Lists what a service needs on the machine besides Python, as phrases for users. */
export function listMachineRequirements({ installation, downloads }: VendorService): readonly string[] {
  return [
    ...(installation === undefined ? [] : [installation.note]),
    ...(downloads === undefined ? [] : [describeDownload(downloads)]),
  ];
}

function describeDownload({ megabytes, command }: ModelDownload): string {
  const model = megabytes === null ? 'a model' : `a model (${formatMegabytes(megabytes)})`;
  if (command !== undefined) return `needs ${model} that "${command}" downloads`;
  return `downloads ${model} when it first starts, and needs network access then`;
}
