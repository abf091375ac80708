import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Conversation, createConversation, initialState, type State } from './conversation';

/** The conversation of the page and its state. It ends when the user leaves the page. */
export function useConversation(): readonly [State, Conversation] {
  const [conversation] = useState(createConversation);
  const state = useSyncExternalStore(
    conversation.subscribe,
    conversation.state,
    () => initialState,
  );
  useEffect(() => () => void conversation.stop(), [conversation]);
  return [state, conversation];
}
