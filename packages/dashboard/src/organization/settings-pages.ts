/** In the order of their navigation, which has a page with `requires` only for roles that may call this operation. */
export const organizationSettingsPages = [
  { label: 'General', to: '/orgs/$organization/settings/general' },
  { label: 'API keys', to: '/orgs/$organization/settings/keys' },
  { label: 'Members', to: '/orgs/$organization/settings/members' },
  { label: 'Webhooks', to: '/orgs/$organization/settings/webhooks', requires: 'listWebhooks' },
  { label: 'Alerts', to: '/orgs/$organization/settings/alerts' },
  { label: 'Audit log', to: '/orgs/$organization/settings/audit', requires: 'listAuditEntries' },
] as const;

export const personalSettingsPages = [
  { label: 'Account', to: '/settings/account' },
  { label: 'Personal tokens', to: '/settings/tokens' },
] as const;
