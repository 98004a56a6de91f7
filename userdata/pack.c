#include "userdata/pack.h"

#include "nodeup/base/enc.h"

enum {
	/* An error has few notes, and one of them is for advice. */
	SHARES_TOLD = ERR_NOTES - 2,
};

static const struct userdata_share *largest_below(const struct userdata_pack_req *req,
						  const struct userdata_share *last)
{
	const struct userdata_share *best = NULL;

	for (size_t i = 0; i < req->n_shares; i++) {
		const struct userdata_share *s = &req->shares[i];
		/* Parts of equal size keep their order. */
		bool told = last &&
			    (s->bytes > last->bytes || (s->bytes == last->bytes && s <= last));

		if (!told && (!best || s->bytes > best->bytes))
			best = s;
	}
	return best;
}

static int too_large(struct arena *a, const struct userdata_pack_req *req, size_t size,
		     struct err *e)
{
	const struct userdata_share *s = NULL;
	size_t zipped = size;
	int r = err_config(e, "user data is %zu bytes%s, EC2 takes %d", size,
			   req->gzip ? " after gzip" : "", USERDATA_MAX);

	for (int i = 0; i < SHARES_TOLD && (s = largest_below(req, s)); i++)
		err_note(e, "part", "%zu bytes %s", s->bytes, s->name);
	if (!req->gzip)
		(void)enc_gzip(a, req->data, req->n, &zipped);
	if (zipped <= USERDATA_MAX)
		err_note(e, "next", "--gzip makes it %zu bytes", zipped);
	else
		err_note(e, "next",
			 "gzip gives %zu bytes; what ConfigBase serves need not be here:"
			 " cluster_spec.yaml, ig_spec.yaml",
			 zipped);
	return r;
}

int userdata_pack(struct arena *a, const struct userdata_pack_req *req, const char **ret_data,
		  size_t *ret_n, struct err *e)
{
	const char *data = req->data;
	size_t n = req->n;

	if (req->gzip)
		data = enc_gzip(a, req->data, req->n, &n);
	if (n > USERDATA_MAX)
		return too_large(a, req, n, e);
	*ret_data = data;
	*ret_n = n;
	return 0;
}
