package telegramtest

import (
	"bytes"
	"image"
	_ "image/jpeg" // what the platform takes as photos
	_ "image/png"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// The platform's limits of photos.
const (
	MaxPhoto      = 10 << 20 // bytes
	MaxPhotoSides = 10_000   // width and height together, in dots
	MaxPhotoRatio = 20       // of the longer side to the shorter one
)

// BanPhotos makes a chat refuse photos, like a group that allows its members only texts, or
// accept them again.
func (s *Server) BanPhotos(chatID int64, ban bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chatID].noPhotos = ban
}

// photo checks a photo as the platform does; s.mu must be held.
func (c *chat) photo(f *File) *Fault {
	if f == nil || len(f.Data) == 0 {
		return bad("there is no photo in the request")
	}
	if len(f.Data) > MaxPhoto {
		return &Fault{Code: 413, Description: "Request Entity Too Large"}
	}
	if c.noPhotos {
		return bad("not enough rights to send photos to the chat")
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil {
		return bad("IMAGE_PROCESS_FAILED")
	}
	long, short := max(size.Width, size.Height), min(size.Width, size.Height)
	if size.Width+size.Height > MaxPhotoSides || short == 0 || long > short*MaxPhotoRatio {
		return bad("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// sendPhoto sends a photo with a caption.
func (s *Server) sendPhoto(p map[string]string, f *File) (any, *Fault) {
	s.mu.Lock()
	chat, moved, fault := s.reach(p)
	if fault == nil {
		fault = chat.photo(f)
	}
	s.mu.Unlock()
	if fault != nil {
		return moved, fault
	}
	return s.send(p, &attached{photo: f})
}

// media implements editMessageMedia with a photo, the only medium that the bot uses: it
// changes a photo, or turns a text into one. s.mu must be held.
func (s *Server) media(p map[string]string, files map[string]*File) (any, *Fault) {
	chat, m, moved, fault := s.editable(p)
	if fault != nil {
		return moved, fault
	}
	var media struct {
		Type    string `json:"type"`
		Media   string `json:"media"`
		Caption string `json:"caption"`
		Mode    string `json:"parse_mode"`
	}
	if err := strictjson.UnmarshalLoose([]byte(p["media"]), &media); err != nil {
		return nil, bad("can't parse InputMedia: Can't parse JSON object")
	}
	name, attached := strings.CutPrefix(media.Media, "attach://")
	if media.Type != "photo" || !attached {
		return nil, bad("can't parse InputMedia: wrong type, or a file that was not uploaded")
	}
	if fault := chat.photo(files[name]); fault != nil {
		return nil, fault
	}
	c, fault := readContent(map[string]string{"parse_mode": media.Mode, "reply_markup": p["reply_markup"]}, media.Caption, MaxCaption)
	if fault != nil {
		return nil, fault
	}
	m.Text, m.Entities, m.Keyboard, m.Photo, m.File, m.Edited = c.text, c.entities, c.keyboard, files[name], nil, true
	return s.wire(chat, m, true), nil
}
