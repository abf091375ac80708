import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Conversation, createConversation, initialState, type State } from './conversation';

/**
 * Returns the state of the conversation, and the object that controls the conversation. Ends the
 * conversation on unmount.
 */
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
