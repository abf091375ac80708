import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { userQuery } from '../accounts/session.ts';
import { formatCloudCommand, formatCurlCommand } from '../commands/shell-command.ts';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FormSection } from '../components/form-section.tsx';
import { QueryBoundary } from '../components/loaded.tsx';
import { useNotice } from '../components/notice.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import {
  canCallOperation,
  createOrganizationQueryKey,
  getOrganizationApi,
  type Membership,
  useMembership,
} from '../organization/organization.ts';
import { DangerZone } from './danger-zone.tsx';

const origin = location.origin;

/** The page at `/orgs/:organization/settings/general`: the organization's name, default region and membership. */
export function GeneralPage() {
  const membership = useMembership();
  return (
    <>
      <PageHeader title="General" />
      {canCallOperation(membership, 'updateOrganization') ? (
        <OrganizationForm membership={membership} />
      ) : (
        <ShownNames {...membership} />
      )}
      <DefaultRegion membership={membership} />
      <DangerZone membership={membership} />
    </>
  );
}

function ShownNames({ name, verboseName, id }: Membership) {
  return (
    <Section title="Organization" lead="Owners can rename it.">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 px-5 py-5 text-sm sm:px-6">
        {[
          ['Display name', verboseName],
          ['Name', name],
          ['Id', id],
        ].map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-quiet">{label}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function OrganizationForm({ membership }: { readonly membership: Membership }) {
  const [verboseName, setVerboseName] = useState(membership.verboseName);
  const [name, setName] = useState(membership.name);
  const [viewersCanStartSessions, setViewersCanStartSessions] = useState(membership.viewersCanStartSessions);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotice();
  const body = {
    ...(name === membership.name ? {} : { name }),
    ...(verboseName === membership.verboseName ? {} : { verboseName }),
    ...(viewersCanStartSessions === membership.viewersCanStartSessions ? {} : { viewersCanStartSessions }),
  };
  const form = useForm(
    // Use the id instead of the name, because a repeated request must find the organization even if the first request has renamed
    // it.
    () => getOrganizationApi(membership.id).updateOrganization({ body }),
    async (changed) => {
      await navigate({
        to: '/orgs/$organization/settings/general',
        params: { organization: membership.id },
        replace: true,
      });
      await queries.invalidateQueries({ queryKey: userQuery.queryKey });
      await navigate({
        to: '/orgs/$organization/settings/general',
        params: { organization: changed.name },
        replace: true,
      });
      notify('The organization is changed.');
    },
  );
  return (
    <FormSection
      title="Organization"
      lead={
        <>
          Id: <code className="font-mono text-[0.8125rem] wrap-anywhere">{membership.id}</code>
        </>
      }
      form={form}
      submit="Save"
      isChanged={Object.keys(body).length > 0}
      command={formatCurlCommand('updateOrganization', {
        origin,
        organization: membership.name,
        body: { name, verboseName, viewersCanStartSessions },
      })}
    >
      <TextField label="Display name" value={verboseName} onValue={setVerboseName} maxLength={100} required />
      <TextField
        label="Name"
        hint="Lower-case letters, digits and hyphens. Addresses and commands with the old name stop working."
        value={name}
        onValue={setName}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        required
      />
      <SelectField
        label="Sessions of viewers"
        hint="Owners and members can always talk to agents with their account."
        options={[
          ['no', 'Viewers may not start sessions'],
          ['yes', 'Viewers may start sessions'],
        ]}
        value={viewersCanStartSessions ? 'yes' : 'no'}
        onValue={(value) => setViewersCanStartSessions(value === 'yes')}
      />
    </FormSection>
  );
}

function DefaultRegion({ membership }: { readonly membership: Membership }) {
  const organization = membership.name;
  const api = getOrganizationApi(organization);
  const queryKey = [...createOrganizationQueryKey(organization), 'regions'];
  const settings = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const [{ regions }, { properties }] = await Promise.all([
        api.listRegions({}, signal),
        api.getProperties({}, signal),
      ]);
      return { regions, defaultRegion: properties.defaultRegion };
    },
  });
  if (settings.data === undefined) {
    return (
      <Section title="Regions">
        <QueryBoundary query={settings}>{() => null}</QueryBoundary>
      </Section>
    );
  }
  return <RegionForm key={settings.data.defaultRegion} membership={membership} {...settings.data} />;
}

type RegionFormProps = {
  readonly membership: Membership;
  readonly regions: readonly { readonly code: string; readonly display_name: string }[];
  readonly defaultRegion: string;
};

function RegionForm({ membership, regions, defaultRegion }: RegionFormProps) {
  const organization = membership.name;
  const [region, setRegion] = useState(defaultRegion);
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useForm(
    () => getOrganizationApi(organization).updateProperties({ body: { defaultRegion: region } }),
    async () => {
      notify(`The default region is ${region}.`);
      await queries.invalidateQueries({ queryKey: [...createOrganizationQueryKey(organization), 'regions'] });
    },
  );
  const options = regions.map(
    ({ code, display_name: label }) => [code, label === code ? code : `${label} (${code})`] as const,
  );
  const lead = 'New agents and secrets are created in the default region, unless a command names another one.';
  if (regions.length < 2 || !canCallOperation(membership, 'updateProperties')) {
    return (
      <Section title="Regions" lead={lead}>
        <div className="flex flex-col gap-3 px-5 py-5 sm:px-6">
          <p className="text-sm">
            {regions.length < 2 ? 'This service has one region: ' : 'Default region: '}
            <strong className="font-medium">{options.find(([code]) => code === defaultRegion)?.[1]}</strong>
          </p>
          <EquivalentShellCommand command={formatCloudCommand(organization, 'regions', 'list')} />
        </div>
      </Section>
    );
  }
  return (
    <FormSection
      title="Regions"
      lead={lead}
      form={form}
      submit="Save"
      isChanged={region !== defaultRegion}
      command={formatCurlCommand('updateProperties', { origin, organization, body: { defaultRegion: region } })}
    >
      <SelectField label="Default region" options={options} value={region} onValue={setRegion} />
    </FormSection>
  );
}
