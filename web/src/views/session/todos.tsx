// The agent's list of what there is to do: always in view above the conversation, closed to one line where there is little viewState.

import type { JSX } from 'preact';
import { t } from '../../i18n';
import { Icon, Spinner, type IconName } from '../../ui';
import { useSessionView } from './view_state';

interface Shown {
  content: string;
  status: string;
}

const ICONS: Record<string, IconName> = { completed: 'check', in_progress: 'play', pending: 'circle' };

export function TodoList({ todos }: { todos: readonly Shown[] }): JSX.Element {
  return (
    <ul class="session-todos">
      {todos.map((todo, index) => (
        <li key={index} class={`session-todo session-todo-${todo.status}`}>
          <Icon name={ICONS[todo.status] ?? 'circle'} size={14} label={wordsOf(todo.status)} />
          <span>{todo.content}</span>
        </li>
      ))}
    </ul>
  );
}

function wordsOf(status: string): string {
  if (status === 'completed' || status === 'in_progress' || status === 'pending') return t(`session.todo_${status}`);
  return status;
}

const KEY = 'todos';

export function TodoCard(): JSX.Element | null {
  const { session, openRows } = useSessionView();
  const { todos, turn } = session.state.value;
  if (todos.length === 0) return null;
  const done = todos.filter((todo) => todo.status === 'completed').length;
  const now = todos.find((todo) => todo.status === 'in_progress');
  if (done === todos.length) return null;
  const open = openRows.of(KEY) ?? false;
  return (
    <section class="session-todo-card" aria-label={t('session.todos')}>
      <button type="button" class="session-todo-line" aria-expanded={open} onClick={() => openRows.set(KEY, !open)}>
        {turn && now ? <Spinner size={16} /> : <Icon name="todo" size={16} />}
        <span class="session-todo-now">{now ? now.content : done === todos.length ? t('session.todosAll') : t('session.todos')}</span>
        <span class="session-todo-bar" aria-hidden="true"><i style={{ width: `${(100 * done) / todos.length}%` }} /></span>
        <span class="session-todo-count">{t('session.todosDone', { done, all: todos.length })}</span>
        <Icon name={open ? 'chevron-up' : 'chevron-down'} size={14} />
      </button>
      {open && <TodoList todos={todos} />}
    </section>
  );
}
