import type { Cell, CommandReportBlock } from './report.ts';

/** Creates a list of named values. */
export function createFields(fields: readonly (readonly [name: string, value: Cell])[]): CommandReportBlock {
  return { kind: 'fields', fields };
}
