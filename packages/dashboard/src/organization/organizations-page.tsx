import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Building2 } from 'lucide-react';
import { useState } from 'react';
import { userQuery, useUser } from '../accounts/session.ts';
import { apiClient } from '../api.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { FormSection } from '../components/form-section.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';

/** The page at `/orgs`: lists the signed-in person's organizations, and has a form to create one. */
export function OrganizationsPage() {
  const { organizations } = useUser();
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-8">
      <PageHeader
        title="Organizations"
        lead="An organization owns agents, secrets and API keys. Its members share them."
      />
      <Section>
        <RowList
          label="Your organizations"
          items={organizations}
          empty={
            <EmptyState icon={Building2} title="You are not a member of any organization">
              Create one below, or ask an owner of an organization for an invitation.
            </EmptyState>
          }
        >
          {({ id, name, verboseName, role }) => (
            <Row
              key={id}
              title={
                <Link to="/orgs/$organization" params={{ organization: name }} className="hover:underline">
                  {verboseName}
                </Link>
              }
              facts={[name, role]}
            />
          )}
        </RowList>
      </Section>
      <CreateOrganization />
    </div>
  );
}

function CreateOrganization() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const form = useForm(
    () => apiClient.createOrganization({ body: { name } }),
    async (created) => {
      await queries.invalidateQueries({ queryKey: userQuery.queryKey });
      await navigate({ to: '/orgs/$organization', params: { organization: created.name } });
    },
  );
  return (
    <FormSection
      title="Create an organization"
      form={form}
      submit="Create organization"
      isChanged={name !== ''}
      command={formatCurlCommand('createOrganization', { origin: location.origin, body: { name: name || 'NAME' } })}
    >
      <TextField
        label="Name"
        name="name"
        hint="Lower-case letters, digits and hyphens. It becomes a part of addresses."
        value={name}
        onValue={setName}
        required
        {...identifierInput}
      />
    </FormSection>
  );
}
