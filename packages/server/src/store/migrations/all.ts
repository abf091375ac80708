import { first } from './0001-first.ts';
import { builds } from './0002-builds.ts';
import { deployments } from './0003-deployments.ts';
import { logs } from './0004-logs.ts';
import { secrets } from './0010-secrets.ts';
import { secretTraces } from './0011-secret-traces.ts';
import { auditAge } from './0012-audit-age.ts';
import { secretWork } from './0013-secret-work.ts';
import { tamperEvidence } from './0014-tamper-evidence.ts';
import { buildCancellation } from './0015-build-cancellation.ts';
import { secretMacs } from './0016-secret-macs.ts';
import { singleAuditTable } from './0017-single-audit-table.ts';
import { noSecretTraces } from './0018-no-secret-traces.ts';
import { fork } from './0019-fork.ts';
import { instanceSockets } from './0020-instance-sockets.ts';
import { accounts } from './0021-accounts.ts';
import { readablePublicKeys } from './0026-readable-public-keys.ts';
import { websocketStart } from './0027-websocket-start.ts';
import { organizationSessions } from './0028-organization-sessions.ts';

/** All migrations in order. A released migration is never edited or removed. */
export const migrations = [
  first,
  builds,
  deployments,
  logs,
  secrets,
  secretTraces,
  auditAge,
  secretWork,
  tamperEvidence,
  buildCancellation,
  secretMacs,
  singleAuditTable,
  noSecretTraces,
  fork,
  instanceSockets,
  accounts,
  readablePublicKeys,
  websocketStart,
  organizationSessions,
];
