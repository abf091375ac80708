import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { userQuery } from '../accounts/session.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FactTable } from '../components/fact-list.tsx';
import { FormSection } from '../components/form-section.tsx';
import { useNotice } from '../components/notice.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, type Membership, useMembership } from '../organization/organization.ts';
import { organizationPropertiesQuery, regionsQuery } from '../organization/queries.ts';
import { OrganizationDangerZone } from './organization-danger-zone.tsx';
import { PhoneCarriersSection } from './phone-carriers-section.tsx';
import { RoomsSection } from './rooms-section.tsx';

const origin = location.origin;

/** The page at `/orgs/:organization/settings/general`: the organization's name, default region, connected vendors and membership. */
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
      <RoomsSection membership={membership} />
      <PhoneCarriersSection membership={membership} />
      <OrganizationDangerZone membership={membership} />
    </>
  );
}

function ShownNames({ name, verboseName, id }: Membership) {
  return (
    <Section title="Organization" lead="Owners can rename it.">
      <div className="px-5 py-5 sm:px-6">
        <FactTable
          facts={[
            ['Display name', verboseName],
            ['Name', name],
            ['Id', id],
          ]}
        />
      </div>
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
      <TextField
        label="Display name"
        name="verboseName"
        value={verboseName}
        onValue={setVerboseName}
        maxLength={100}
        required
      />
      <TextField
        label="Name"
        name="name"
        hint="Lower-case letters, digits and hyphens. Addresses and commands with the old name stop working."
        value={name}
        onValue={setName}
        required
        {...identifierInput}
      />
      <SelectField
        label="Sessions of viewers"
        name="viewersCanStartSessions"
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
  const regions = useQuery(regionsQuery(membership.name));
  const properties = useQuery(organizationPropertiesQuery(membership.name));
  if (regions.data === undefined || properties.data === undefined) {
    return (
      <Section title="Regions">
        {regions.data === undefined && <QueryBoundary query={regions}>{() => null}</QueryBoundary>}
        {regions.data !== undefined && <QueryBoundary query={properties}>{() => null}</QueryBoundary>}
      </Section>
    );
  }
  const { defaultRegion } = properties.data.properties;
  return (
    <RegionForm
      key={defaultRegion}
      membership={membership}
      regions={regions.data.regions}
      defaultRegion={defaultRegion}
    />
  );
}

type RegionFormProps = {
  readonly membership: Membership;
  readonly regions: readonly { readonly code: string; readonly display_name: string }[];
  readonly defaultRegion: string;
};

function RegionForm({ membership, regions, defaultRegion }: RegionFormProps) {
  const organization = membership.name;
  const [region, setRegion] = useState(defaultRegion);
  const refresh = useRefresh(organizationPropertiesQuery(organization).queryKey);
  const form = useForm(
    () => getOrganizationApi(organization).updateProperties({ body: { defaultRegion: region } }),
    () => refresh(`The default region is ${region}.`),
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
          <EquivalentShellCommand command={botcliCommands.listRegions(organization)} />
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
      <SelectField label="Default region" name="defaultRegion" options={options} value={region} onValue={setRegion} />
    </FormSection>
  );
}
