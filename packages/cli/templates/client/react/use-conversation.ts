import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Conversation, createConversation, fresh, type State } from './conversation';

/** The page's only conversation and its state. It ends when the page is left. */
export function useConversation(): readonly [State, Conversation] {
  const [conversation] = useState(createConversation);
  const state = useSyncExternalStore(conversation.subscribe, conversation.state, () => fresh);
  useEffect(() => () => void conversation.stop(), [conversation]);
  return [state, conversation];
}
