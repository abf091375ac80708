import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Conversation, createConversation, fresh, type State } from './conversation';

/** The page's one conversation, and what it is at. It ends when the page goes. */
export function useConversation(): readonly [State, Conversation] {
  const [conversation] = useState(createConversation);
  const state = useSyncExternalStore(conversation.subscribe, conversation.state, () => fresh);
  useEffect(() => () => void conversation.stop(), [conversation]);
  return [state, conversation];
}
