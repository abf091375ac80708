import type { InstallationCheck } from '@bothost/contract';
import { escapeControls } from '../output/printable.ts';
import type { CommandReportBlock, CommandReportItem } from '../output/report.ts';

const signs = { ok: '✓', warning: '!', failed: '✗' } as const;

export function createChecksBlock(checks: readonly InstallationCheck[]): CommandReportBlock {
  return { kind: 'pieces', pieces: checks.map(toItem), empty: 'Nothing was checked.' };
}

function toItem(check: InstallationCheck): CommandReportItem {
  const { state } = check;
  const [subject, reason, nextStep] = [check.subject, check.reason, check.nextStep ?? ''].map(escapeControls);
  return {
    json: check,
    plain: [state, subject, reason, nextStep].join('\t'),
    rich: (colors) => {
      const color = { ok: colors.green, warning: colors.yellow, failed: colors.red }[state];
      const next = nextStep === '' ? [] : [`  ${colors.dim('Next:')} ${nextStep}`];
      return [`${color(`${signs[state]} ${subject}`)}: ${reason}`, ...next].join('\n');
    },
  };
}
