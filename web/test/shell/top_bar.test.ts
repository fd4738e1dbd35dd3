import { afterEach, expect, it, vi } from 'vitest';
import { http, HubError } from '../../src/hub/http';
import { connection } from '../../src/hub/connection';
import { logOut } from '../../src/shell/top_bar';

afterEach(() => vi.restoreAllMocks());

it('nobody is told that they are out before the hub says so', async () => {
  const post = vi.spyOn(http, 'post');
  const lock = vi.spyOn(connection, 'lock').mockImplementation(() => undefined);
  for (const error of [new HubError('unreachable', ''), new HubError('failed', '', 502)]) {
    post.mockRejectedValueOnce(error);
    await logOut();
    expect(lock).not.toHaveBeenCalled();
  }
  post.mockResolvedValueOnce(undefined);
  await logOut();
  expect(lock).toHaveBeenCalledOnce();
  post.mockRejectedValueOnce(new HubError('unauthorized', '', 401));
  await logOut();
  expect(lock).toHaveBeenCalledTimes(2);
});
