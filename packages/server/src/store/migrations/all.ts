import { initialSchemaMigration } from './0001-first.ts';
import { buildsMigration } from './0002-builds.ts';
import { deploymentsMigration } from './0003-deployments.ts';
import { logsMigration } from './0004-logs.ts';
import { secretsMigration } from './0010-secrets.ts';
import { secretHashesMigration } from './0011-secret-traces.ts';
import { auditRetentionMigration } from './0012-audit-age.ts';
import { secretMaintenanceProgressMigration } from './0013-secret-work.ts';
import { tamperEvidenceMigration } from './0014-tamper-evidence.ts';
import { buildCancellationMigration } from './0015-build-cancellation.ts';
import { secretMacsMigration } from './0016-secret-macs.ts';
import { singleAuditTableMigration } from './0017-single-audit-table.ts';
import { dropSecretHashesMigration } from './0018-no-secret-traces.ts';
import { deploymentForkSettingMigration } from './0019-fork.ts';
import { instanceSocketsMigration } from './0020-instance-sockets.ts';
import { accountsMigration } from './0021-accounts.ts';
import { plainTextPublicKeysMigration } from './0026-readable-public-keys.ts';
import { websocketStartMigration } from './0027-websocket-start.ts';
import { organizationSessionsMigration } from './0028-organization-sessions.ts';

/** All migrations in order. A released migration is never edited or removed. */
export const migrations = [
  initialSchemaMigration,
  buildsMigration,
  deploymentsMigration,
  logsMigration,
  secretsMigration,
  secretHashesMigration,
  auditRetentionMigration,
  secretMaintenanceProgressMigration,
  tamperEvidenceMigration,
  buildCancellationMigration,
  secretMacsMigration,
  singleAuditTableMigration,
  dropSecretHashesMigration,
  deploymentForkSettingMigration,
  instanceSocketsMigration,
  accountsMigration,
  plainTextPublicKeysMigration,
  websocketStartMigration,
  organizationSessionsMigration,
];
