import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHeader } from '../components/section.tsx';
import { AgentConversation } from './agent-conversation.tsx';
import { PublicApiKeyForm } from './public-api-key-form.tsx';
import { getUrlFragmentKeyProblem, loadPublicApiKey, storePublicApiKey } from './public-key.ts';

const route = getRouteApi('/shell/talk/$agent');

/**
 * The page at `/talk/:agent`, on which people without an account talk to an agent. They enter a public API key (`pk_...`) of
 * the organization.
 */
export function TalkPage() {
  const { agent } = route.useParams();
  const [publicKey, setPublicKey] = useState(() => loadPublicApiKey({ location, history, storage: sessionStorage }));
  const changeKey = (key: string | undefined) => {
    storePublicApiKey(sessionStorage, key);
    setPublicKey(key);
  };
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6">
      <PageHeader title={`Talk to ${agent}`} />
      {publicKey === undefined ? (
        <PublicApiKeyForm linkProblem={getUrlFragmentKeyProblem()} help={<KeyHelp />} onKey={changeKey} />
      ) : (
        <AgentConversation agent={agent} publicKey={publicKey} onForgetKey={() => changeKey(undefined)} />
      )}
    </div>
  );
}

function KeyHelp() {
  return (
    <p>
      The service created a public key of your organization at its first start: it is <code>public_key</code> in the
      profile whose path <code>npx botcli cloud auth status</code> shows. To create another, run{' '}
      <code>npx botcli cloud keys create NAME --kind public</code>. Only this browser tab stores the key.
    </p>
  );
}
