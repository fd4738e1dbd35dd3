// The rest of a text that was too long for the event that completes it.

import type { MessageItem, ThinkingItem } from '../../../model/timeline/items';
import { useSessionView } from '../view_state';

export function useRest(item: MessageItem | ThinkingItem): { bytes: number; load: () => Promise<void> } | undefined {
  const { session } = useSessionView();
  const { cut } = item.state.value;
  return cut && { bytes: cut.bytes, load: () => session.loadWhole(item) };
}
