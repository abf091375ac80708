import type { Migration } from '../migrate.ts';
import { firstReleaseMigration } from './0019-first-release.ts';
import { instanceSocketsMigration } from './0020-instance-sockets.ts';
import { accountsMigration } from './0021-accounts.ts';
import { plainTextPublicKeysMigration } from './0026-readable-public-keys.ts';
import { websocketStartMigration } from './0027-websocket-start.ts';
import { organizationSessionsMigration } from './0028-organization-sessions.ts';
import { startMomentsMigration } from './0032-start-moments.ts';
import { viewersStartSessionsMigration } from './0042-viewers-start-sessions.ts';
import { transportsMigration } from './0043-transports.ts';
import { dropFormerMacsMigration } from './0046-no-former-macs.ts';
import { conversationLevelMigration } from './0048-conversation-level.ts';
import { sessionConversationsMigration } from './0049-session-conversations.ts';
import { imagesMigration } from './0050-images.ts';
import { sessionRecordingsMigration } from './0051-session-recordings.ts';
import { conversationRedactionMigration } from './0052-conversation-redaction.ts';
import { roomsMigration } from './0053-rooms.ts';
import { webhooksMigration } from './0054-webhooks.ts';
import { alertsMigration } from './0055-alerts.ts';
import { sessionStatisticsMigration } from './0056-session-statistics.ts';
import { deploymentCreatorMigration } from './0057-deployment-creator.ts';
import { phoneCallsMigration } from './0058-phone-calls.ts';
import { listingIndexesMigration } from './0059-listing-indexes.ts';
import { roomExpiryMigration } from './0060-room-expiry.ts';
import { urlSecretVersionMigration } from './0061-url-secret-version.ts';
import { pastCallsMigration } from './0062-past-calls.ts';
import { formerWebhookKeysMigration } from './0063-former-webhook-keys.ts';
import { sessionsByEndMigration } from './0064-sessions-by-end.ts';
import { hostsReadUsageMigration } from './0065-hosts-read-usage.ts';
import { dispatchTimeMigration } from './0066-dispatch-time.ts';

/** All migrations in order. A released migration is never edited or removed. */
export const migrations: readonly Migration[] = [
  firstReleaseMigration,
  instanceSocketsMigration,
  accountsMigration,
  plainTextPublicKeysMigration,
  websocketStartMigration,
  organizationSessionsMigration,
  startMomentsMigration,
  viewersStartSessionsMigration,
  transportsMigration,
  dropFormerMacsMigration,
  conversationLevelMigration,
  sessionConversationsMigration,
  imagesMigration,
  sessionRecordingsMigration,
  conversationRedactionMigration,
  roomsMigration,
  webhooksMigration,
  alertsMigration,
  sessionStatisticsMigration,
  deploymentCreatorMigration,
  phoneCallsMigration,
  listingIndexesMigration,
  roomExpiryMigration,
  urlSecretVersionMigration,
  pastCallsMigration,
  formerWebhookKeysMigration,
  sessionsByEndMigration,
  hostsReadUsageMigration,
  dispatchTimeMigration,
];
