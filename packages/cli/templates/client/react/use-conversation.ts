import { useEffect, useState, useSyncExternalStore } from 'react';
import {
  type Conversation,
  type ConversationState,
  createConversation,
  initialState,
} from './conversation';

/**
 * Returns the state of the conversation, and the object that controls the conversation. Ends the
 * conversation on unmount.
 */
export function useConversation(): readonly [ConversationState, Conversation] {
  const [conversation] = useState(createConversation);
  const state = useSyncExternalStore(
    conversation.subscribe,
    conversation.state,
    () => initialState,
  );
  useEffect(() => () => void conversation.stop(), [conversation]);
  return [state, conversation];
}
