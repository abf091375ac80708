import { useNavigate, useSearch } from '@tanstack/react-router';
import { AgentAccessCheck } from './agent-access-check.tsx';
import { Conversation } from './conversation.tsx';
import { parseTalkSearchParameters } from './transport-names.ts';

type AgentConversationProps = {
  readonly agent: string;
  readonly publicKey: string;
  readonly onForgetKey: () => void;
};

/**
 * Shows a conversation with an agent after `AgentAccessCheck` has checked the key and the agent. The page's URL selects the
 * transport.
 */
export function AgentConversation({ agent, publicKey, onForgetKey }: AgentConversationProps) {
  const { transport = 'websocket' } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <AgentAccessCheck agent={agent} publicKey={publicKey} onForgetKey={onForgetKey}>
      <Conversation
        key={agent}
        agent={agent}
        publicKey={publicKey}
        transport={transport}
        onTransport={(name) =>
          void navigate({ to: '.', search: parseTalkSearchParameters({ transport: name }), replace: true })
        }
        onForgetKey={onForgetKey}
      />
    </AgentAccessCheck>
  );
}
